"""Numbers of system calls: on x86_64, on aarch64 (None where it has no such call).

From the kernel's tables (arch/x86/entry/syscalls/syscall_64.tbl, include/uapi/asm-generic/unistd.h).
"""

Call = tuple[int, int | None]

NEWEST = 467  # the last number that was looked at: newer calls may do what is denied here

DENIED: tuple[Call, ...] = (
    # network
    (41, 198),  # socket
    (53, 199),  # socketpair
    (42, 203),  # connect
    (49, 200),  # bind
    (50, 201),  # listen
    (43, 202),  # accept
    (288, 242),  # accept4
    (44, 206),  # sendto
    (46, 211),  # sendmsg
    (307, 269),  # sendmmsg
    # processes of others
    (101, 117),  # ptrace
    (310, 270),  # process_vm_readv
    (311, 271),  # process_vm_writev
    (440, 440),  # process_madvise
    (448, 448),  # process_mrelease
    (312, 272),  # kcmp
    (434, 434),  # pidfd_open
    (438, 438),  # pidfd_getfd
    (424, 424),  # pidfd_send_signal
    (200, 130),  # tkill
    (129, 138),  # rt_sigqueueinfo
    (297, 240),  # rt_tgsigqueueinfo
    (141, 140),  # setpriority
    (251, 30),  # ioprio_set
    (142, 118),  # sched_setparam
    (144, 119),  # sched_setscheduler
    (314, 274),  # sched_setattr
    (203, 122),  # sched_setaffinity
    (256, 238),  # migrate_pages
    (279, 239),  # move_pages
    (160, 164),  # setrlimit
    # leaving the group that its guard ends
    (112, 157),  # setsid
    (109, 154),  # setpgid
    # programs that are in no file
    (322, 281),  # execveat
    (319, 279),  # memfd_create
    (447, 447),  # memfd_secret
    # namespaces and mounts
    (272, 97),  # unshare
    (308, 268),  # setns
    (165, 40),  # mount
    (166, 39),  # umount2
    (155, 41),  # pivot_root
    (161, 51),  # chroot
    (428, 428),  # open_tree
    (429, 429),  # move_mount
    (430, 430),  # fsopen
    (431, 431),  # fsconfig
    (432, 432),  # fsmount
    (433, 433),  # fspick
    (442, 442),  # mount_setattr
    (467, 467),  # open_tree_attr
    (457, 457),  # statmount
    (458, 458),  # listmount
    (179, 60),  # quotactl
    (443, 443),  # quotactl_fd
    (167, 224),  # swapon
    (168, 225),  # swapoff
    # the kernel
    (321, 280),  # bpf
    (298, 241),  # perf_event_open
    (250, 219),  # keyctl
    (248, 217),  # add_key
    (249, 218),  # request_key
    (323, 282),  # userfaultfd
    (425, 425),  # io_uring_setup
    (426, 426),  # io_uring_enter
    (427, 427),  # io_uring_register
    (175, 105),  # init_module
    (313, 273),  # finit_module
    (176, 106),  # delete_module
    (246, 104),  # kexec_load
    (320, 294),  # kexec_file_load
    (169, 142),  # reboot
    (103, 116),  # syslog
    (163, 89),  # acct
    (164, 170),  # settimeofday
    (227, 112),  # clock_settime
    (159, 171),  # adjtimex
    (305, 266),  # clock_adjtime
    (170, 161),  # sethostname
    (171, 162),  # setdomainname
    (135, 92),  # personality
    (172, None),  # iopl
    (173, None),  # ioperm
    (154, None),  # modify_ldt
    (300, 262),  # fanotify_init
    (303, 264),  # name_to_handle_at
    (304, 265),  # open_by_handle_at
    (153, 58),  # vhangup
    # marks of files, which Landlock leaves open
    (90, None),  # chmod
    (91, 52),  # fchmod
    (268, 53),  # fchmodat
    (452, 452),  # fchmodat2
    (92, None),  # chown
    (93, 55),  # fchown
    (94, None),  # lchown
    (260, 54),  # fchownat
    (188, 5),  # setxattr
    (189, 6),  # lsetxattr
    (190, 7),  # fsetxattr
    (463, 463),  # setxattrat
    (197, 14),  # removexattr
    (198, 15),  # lremovexattr
    (199, 16),  # fremovexattr
    (466, 466),  # removexattrat
    (132, None),  # utime
    (235, None),  # utimes
    (261, None),  # futimesat
    (280, 88),  # utimensat
    (133, None),  # mknod
    (259, 33),  # mknodat
    (76, 45),  # truncate
    # what outlives a process
    (29, 194),  # shmget
    (30, 196),  # shmat
    (68, 186),  # msgget
    (64, 190),  # semget
    (240, 180),  # mq_open
    (241, 181),  # mq_unlink
)

EXECUTE: tuple[Call, ...] = ((59, 221),)
FORKS: tuple[Call, ...] = ((57, None), (58, None))
KILL: tuple[Call, ...] = ((62, 129),)
CLONE: Call = (56, 220)
CLONE3: Call = (435, 435)
TGKILL: Call = (234, 131)
LIMITS: Call = (302, 261)  # prlimit64
